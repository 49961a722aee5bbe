import * as z from 'zod'

/** A tool that a model may call. One that the gateway would have to run is refused while it runs none: the model would
 *  not know of it. A vendor's own `mcp` tools have the address of their server with them. */
export const tool = () =>
  z
    .looseObject({ type: z.string() })
    .refine(({ type, server, server_url: url }) => type !== 'mcp' || typeof server !== 'string' || url !== undefined, {
      path: ['server'],
      error: 'there is no such server of managed tools; this gateway runs none',
    })
