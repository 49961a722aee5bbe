import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf } from '../../../lib/crypto.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Files under this path are named after their content. */
const NAMED_AFTER_CONTENT = '/assets/'

/** The codings of files that are there, the preferred one first, with the ends of their names. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

type Variant = 'identity' | (typeof CODINGS)[number][0]

export interface AssetRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

interface Asset {
  readonly headers: Readonly<Record<string, string>>
  readonly etag: string
  readonly variants: ReadonlyMap<Variant, () => Uint8Array>
}

/** The console as it was built last, in a folder. */
export interface BuiltConsole {
  /** Its page; none where it was never built. */
  readonly shell: () => string | undefined
  /** Its static files, as Workers answers them for `[assets]`: `files/`, and `compressed/` beside it. */
  readonly asset: (request: AssetRequest) => Answer | undefined
}

/** Serves the console that was built into a folder; nothing if it was not built. After a new build the next page is the
 *  new one, and a browser that has just loaded the former page still gets the files which that page begins with. A file
 *  is read at its first request. */
export function builtConsole(folder: URL): BuiltConsole {
  const root = fileURLToPath(folder)
  let newest = buildIn(root)
  let former: Build | undefined
  const current = () => {
    const at = builtAt(root)
    // During a build there is no page for a moment: the last one stays in use.
    if (at !== undefined && at !== newest.at) {
      former = newest
      newest = buildIn(root)
    }
    return newest
  }
  return {
    shell: () => current().shell(),
    asset({ method, url = '', headers }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined
      const end = url.indexOf('?')
      const path = end < 0 ? url : url.slice(0, end)
      if (!newest.files.has(path) && !path.startsWith(NAMED_AFTER_CONTENT)) return undefined
      const find = current().files.get(path) ?? former?.files.get(path)
      return find && ifThere(() => answerOf(find(), headers))
    },
  }
}

interface Build {
  /** When it was built. */
  readonly at: number | undefined
  readonly shell: () => string | undefined
  readonly files: ReadonlyMap<string, () => Asset>
}

const shellIn = (root: string) => join(root, 'shell.html')
const builtAt = (root: string) => statSync(shellIn(root), { throwIfNoEntry: false })?.mtimeMs

function buildIn(root: string): Build {
  const files = new Map(
    filesIn(join(root, 'files'))
      .filter((path) => !path.startsWith('/_'))
      .map((path) => [path, lazily(() => assetAt(root, path))] as const),
  )
  const shell = () => {
    const text = readFileSync(shellIn(root), 'utf8')
    // The files that the page begins with are read with it, because a new build removes them.
    for (const [, path = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      for (const read of files.get(path)?.().variants.values() ?? []) read()
    }
    return text
  }
  return { at: builtAt(root), shell: lazily(() => ifThere(shell)), files }
}

/** The result of reading; undefined if the file is gone. */
function ifThere<Read>(read: () => Read): Read | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function answerOf(asset: Asset, headers: AssetRequest['headers']): Answer {
  if (headers['if-none-match'] !== undefined && tagsOf(headers['if-none-match']).includes(asset.etag)) {
    const { 'content-type': _, ...kept } = asset.headers
    return { status: 304, headers: kept, body: new Uint8Array() }
  }
  const variant = variantFor(asset, String(headers['accept-encoding'] ?? ''))
  const body = asset.variants.get(variant)?.() as Uint8Array
  const coded = variant === 'identity' ? {} : { 'content-encoding': variant }
  return { status: 200, headers: { ...asset.headers, ...coded }, body }
}

function assetAt(root: string, path: string): Asset {
  const content = readFileSync(join(root, 'files', path))
  const compressed = CODINGS.map(([coding, end]) => [coding, join(root, 'compressed', `${path}${end}`)] as const)
  const present = compressed.filter(([, file]) => existsSync(file))
  const etag = `"${digestOf(content).slice(0, 32)}"`
  return {
    etag,
    headers: {
      'content-type': MEDIA_TYPES[extname(path)] ?? 'application/octet-stream',
      'cache-control': path.startsWith(NAMED_AFTER_CONTENT)
        ? 'public, max-age=31536000, immutable'
        : 'public, max-age=0, must-revalidate',
      etag,
      'x-content-type-options': 'nosniff',
      ...(present.length > 0 ? { vary: 'accept-encoding' } : {}),
    },
    variants: new Map<Variant, () => Uint8Array>([
      ['identity', () => content],
      ...present.map(([coding, file]) => [coding, lazily(() => readFileSync(file) as Uint8Array)] as const),
    ]),
  }
}

function variantFor({ variants }: Asset, accepted: string): Variant {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
    .map((one) => one.split(';', 1)[0]?.trim())
  return (
    CODINGS.map(([coding]) => coding).find((coding) => variants.has(coding) && taken.includes(coding)) ?? 'identity'
  )
}

const tagsOf = (header: string | string[]): string[] =>
  String(header)
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `/${relative(folder, join(parentPath, name)).split(sep).join('/')}`)
}
