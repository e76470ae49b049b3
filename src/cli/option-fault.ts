/** Shortens an error of `parseArgs` to one line, without its advice on how to pass a value that begins with "-". */
export function optionFault({ code, message }: NodeJS.ErrnoException): string {
  const [, option = ''] = /'(?:-\w, )?(--?[^\s'<]+)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `unknown option ${option}`;
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return message.includes('does not take') ? `${option} takes no value` : `${option} needs a value`;
  return message.split('\n', 1)[0] ?? '';
}
