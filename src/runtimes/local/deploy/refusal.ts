/** A deployment cannot begin, and nothing was changed. The message says what to do. */
export class Refusal extends Error {}
