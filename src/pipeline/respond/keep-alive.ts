/** Says nothing, and shows that somebody is there. */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')
