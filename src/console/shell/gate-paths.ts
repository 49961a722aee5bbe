/** Pages before the console, which links from mails and from the greeting lead to, whoever has signed in. */
export const isGate = (path: string): boolean => /^\/console\/(?:invite|reset|forgot|welcome)\/?$/.test(path)
