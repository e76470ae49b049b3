import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../texts/text.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What it shows is never shown again, so Escape alone does not close it. */
  readonly isKept?: boolean;
  onClose(): void;
}

/** A modal dialog: the browser keeps the focus in it, closes it by Escape, and gives the focus back. */
export function Dialog({ title, children, isKept = false, onClose }: DialogProps) {
  const shown = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    shown.current?.showModal();
    // What has to be typed comes before what closes the dialog.
    shown.current?.querySelector<HTMLElement>('input:not([type=checkbox])')?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  useEffect(() => {
    if (!isKept) return;
    // Chromium closes a dialog at the second Escape, whatever a listener of `cancel` says.
    const keep = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') event.preventDefault();
    };
    document.addEventListener('keydown', keep);
    return () => document.removeEventListener('keydown', keep);
  }, [isKept]);
  return (
    <dialog ref={shown} aria-labelledby="dialog-title" onClose={onClose}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet cross" aria-label={t().close} onClick={() => shown.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}
