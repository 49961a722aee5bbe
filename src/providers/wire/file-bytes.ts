import { joinBytes } from '../../lib/bytes/bytes.ts'
import type { FormFile } from '../../modes/form.ts'

/** All bytes of a file, for vendors that take files inside JSON. */
export async function fileBytes(file: FormFile): Promise<Uint8Array> {
  const pieces = file.open()
  const read: Uint8Array[] = []
  for (let piece = await pieces.read(); piece !== undefined; piece = await pieces.read()) read.push(piece)
  return joinBytes(read)
}
