import fc from 'fast-check'
import { familiar } from './near-schema.ts'

/** A document with a few of its values replaced by something that does not belong there. */
export function mutatedJson(document: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(document)
  if (paths.length === 0) return familiar
  const change = fc.tuple(fc.constantFrom(...paths), fc.oneof(familiar, fc.jsonValue(), fc.constant(undefined)))
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((changed, [path, value]) => replaced(changed, path, value), document))
}

/** A stream that was true before some of its events were lost, repeated, moved, cut or replaced. */
export function mutatedStream(stream: string): fc.Arbitrary<string[]> {
  const frames = stream.split(/(?<=\n\n|\r\n\r\n)/)
  const at = fc.nat({ max: frames.length })
  const change = fc.oneof(
    fc.record({ at, remove: fc.constantFrom(1, 1, 2, 100), put: fc.constant([] as string[]) }),
    fc.record({ at, remove: fc.constant(0), put: fc.constantFrom(...frames).map((frame) => [frame]) }),
    fc.record({ at, remove: fc.constant(1), put: at.chain((index) => mutatedFrame(frames[index] ?? '')) }),
    fc.record({ at, remove: fc.constant(0), put: strange.map((frame) => [frame]) }),
  )
  return fc.array(change, { maxLength: 4 }).map((changes) => {
    const changed = [...frames]
    for (const { at: index, remove, put } of changes) changed.splice(index, remove, ...put)
    return changed
  })
}

function mutatedFrame(frame: string): fc.Arbitrary<string[]> {
  const data = /^data: ?(\{.*)$/m.exec(frame)?.[1]
  const cut = fc.nat({ max: frame.length }).map((end) => [frame.slice(0, end)])
  const document = data === undefined ? undefined : parsed(data)
  if (data === undefined || document === undefined) return cut
  const changed = mutatedJson(document).map((value) => [frame.replace(data, () => JSON.stringify(value) ?? '')])
  return fc.oneof({ weight: 3, arbitrary: changed }, { weight: 1, arbitrary: cut })
}

const strange = fc.oneof(
  fc.constantFrom(
    '\n\n',
    ': comment\n\n',
    'data:\n\n',
    'data: [DONE]\n\n',
    'data: null\n\n',
    'event: error\n\n',
    '\r\r',
  ),
  fc.constantFrom('id: 1\nretry: 5\n\n', 'data: {"error":"no"}\n\n', `data: ${'x'.repeat(300_000)}\n\n`, '\ufeff'),
  fc.string({ unit: 'binary' }),
  familiar.map((value) => `data: ${JSON.stringify(value)}\n\n`),
  familiar.map((value) => `event: error\ndata: ${JSON.stringify(value)}\n\n`),
)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Path = readonly string[]

function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inside]) => [[key], ...pathsOf(inside).map((path) => [key, ...path])])
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by
  if (typeof value !== 'object' || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  copy[key] = replaced(Object.hasOwn(copy, key) ? copy[key] : undefined, rest, by)
  return copy
}
