import type { Statement } from './sql.ts'

/** What is not our own text must not pass for it: no JSON has a symbol. */
const OURS: unique symbol = Symbol('a piece of SQL')

/** A piece of SQL with its values apart from its text. */
export interface Fragment {
  readonly [OURS]: true
  /** One more than there are values: they stand between. */
  readonly texts: readonly string[]
  readonly values: readonly unknown[]
}

/** SQL in a template. What is put into it is a value, never text, unless it is a fragment itself. */
export function fragment(texts: readonly string[], ...parts: readonly unknown[]): Fragment {
  let built: Fragment = raw(texts[0] ?? '')
  for (const [index, part] of parts.entries()) {
    built = joined(built, isFragment(part) ? part : made(['', ''], [part]))
    built = joined(built, raw(texts[index + 1] ?? ''))
  }
  return built
}

/** Text that we wrote ourselves: names of tables and columns. */
export function raw(text: string): Fragment {
  return made([text], [])
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  const [first = raw(''), ...others] = fragments
  return others.reduce((left, right) => joined(joined(left, raw(separator)), right), first)
}

/** The whole statement, its values numbered. */
export function statement({ texts, values }: Fragment): Statement {
  return { sql: texts.map((text, index) => (index === 0 ? text : `$${index}${text}`)).join(''), parameters: values }
}

function joined(left: Fragment, right: Fragment): Fragment {
  const seam = `${left.texts.at(-1)}${right.texts[0]}`
  return made([...left.texts.slice(0, -1), seam, ...right.texts.slice(1)], [...left.values, ...right.values])
}

function made(texts: readonly string[], values: readonly unknown[]): Fragment {
  return { [OURS]: true, texts, values }
}

function isFragment(part: unknown): part is Fragment {
  return typeof part === 'object' && part !== null && OURS in part
}
