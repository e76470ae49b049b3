import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The heading of a view, which is also the title of the document. The focus goes there when another view comes. */
export function Title({ children, text }: { readonly children: ComponentChildren; readonly text?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const said = text ?? String(children);
  useEffect(() => {
    document.title = `${said} · Gatehouse`;
  }, [said]);
  useEffect(() => {
    if (hasMoved) heading.current?.focus({ preventScroll: true });
    hasMoved = true;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** Whether a view was shown before: the first one leaves the focus to the browser. */
let hasMoved = false;
