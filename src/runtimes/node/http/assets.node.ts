import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer } from '../../../pipeline/answer.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Answers the files of a folder, read once, as Workers does for `[assets]`. */
export function assets(folder: URL): (method: string, target: string) => Answer | undefined {
  const root = fileURLToPath(folder)
  const files = new Map<string, Uint8Array>(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [`/${relative(root, file).split(sep).join('/')}`, readFileSync(file)] as const),
  )
  return (method, target) => {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const [path = ''] = target.split('?', 1)
    const file = files.get(path)
    if (!file) return undefined
    const headers = { 'content-type': MEDIA_TYPES[extname(path)] ?? 'application/octet-stream' }
    return { status: 200, headers, body: file }
  }
}
