/** Takes one line of progress. */
export type Note = (line: string) => void;
