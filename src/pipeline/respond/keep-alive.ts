/** A server-sent comment: keeps the connection alive and carries no data. */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')
