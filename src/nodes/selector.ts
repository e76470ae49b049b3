/** A parsed label selector: matches a set of labels (or annotations). */
export interface Selector {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}
