/** What the bench can measure, each by its own name. */
export const SUBJECTS = [
  'lists',
  'pages',
  'size',
  'idle',
  'churn',
  'storm',
  'curve',
  'soak',
  'sign-in',
  'reviews',
  'watch',
  'turns',
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** These take long, and are measured only when asked for. */
const ON_DEMAND: readonly Subject[] = ['curve', 'soak', 'reviews', 'watch', 'turns'];

export const isWanted = (subject: Subject, only: Subject | undefined): boolean =>
  only === undefined ? !ON_DEMAND.includes(subject) : only === subject;
