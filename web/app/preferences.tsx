import { chooseLanguage, LANGUAGES, type Language, language, t } from '../texts/text.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';

/** The language and the colours of the page in this browser. */
export function Preferences() {
  return (
    <>
      <label>
        {t().account.language}
        <select
          value={language.value}
          onChange={({ currentTarget }) => void chooseLanguage(currentTarget.value as Language)}
        >
          {Object.entries(LANGUAGES).map(([tag, name]) => (
            <option key={tag} value={tag} lang={tag === 'zh' ? 'zh-CN' : tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t().account.theme}
        <select
          value={theme.value}
          onChange={({ currentTarget }) => chooseTheme(THEMES.find((one) => one === currentTarget.value) ?? 'system')}
        >
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {t().account.themes[one]}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
