/** The package has no types of its own; this is what is used of it. */
declare module 'event-source-polyfill' {
  export class EventSourcePolyfill {
    constructor(
      url: string,
      options: { readonly headers: Readonly<Record<string, string>>; readonly heartbeatTimeout: number },
    );
    addEventListener(type: string, listener: (event: { readonly data?: string }) => void): void;
  }
}
