import * as z from 'zod'

/** A tool that a model may call. The gateway runs no tools itself, so that a tool of one of its servers is refused. A
 *  vendor's own `mcp` tools hold the address of their server. */
export const tool = () =>
  z
    .looseObject({ type: z.string() })
    .refine(({ type, server, server_url: url }) => type !== 'mcp' || typeof server !== 'string' || url !== undefined, {
      path: ['server'],
      error: 'there is no such server of managed tools; this gateway runs none',
    })
