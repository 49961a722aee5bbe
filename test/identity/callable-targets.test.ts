import { describe, expect, it } from 'vitest'
import { type Binding, callableTargets, type TargetLevel } from '../../src/identity/callable-targets.ts'
import type { CallTarget } from '../../src/pipeline/caller.ts'

/** `paid` is the label of one and the name of another. */
const TARGETS: readonly CallTarget[] = [
  { name: 'big', accessGroups: ['paid'] },
  { name: 'fast', accessGroups: ['free', 'new'] },
  { name: 'small', accessGroups: [] },
  { name: 'paid', accessGroups: [] },
]
const ALL = 'big fast small paid'

/** `big -fast @paid`: big and the label paid are bound, fast is bound and disabled. */
function bindings(text: string): Binding[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const enabled = !word.startsWith('-')
      const key = word.replace(/^-/, '')
      return key.startsWith('@')
        ? { callable_kind: 'access_group', callable_key: key.slice(1), enabled }
        : { callable_kind: 'target', callable_key: key, enabled }
    })
}

const level = (mode: TargetLevel['mode'], text: string): TargetLevel => ({ mode, bindings: bindings(text) })

function called(levels: readonly TargetLevel[], byDefault: 'allow' | 'deny' = 'allow'): string {
  const mayCall = callableTargets(levels, byDefault)
  return TARGETS.filter(mayCall)
    .map(({ name }) => name)
    .join(' ')
}

describe('one level', () => {
  it.each<[TargetLevel['mode'], string, string]>([
    [null, '', ALL],
    [null, 'big', 'big'],
    [null, 'big small', 'big small'],
    [null, '-big', ''],
    [null, '-big small', 'small'],
    [null, 'nobody', ''],
    [null, '@paid', 'big'],
    [null, '@new', 'fast'],
    [null, '-@paid', ''],
    [null, '@free big', 'big fast'],
    [null, '-big @paid', 'big'],
    [null, '@big', ''],
    [null, 'paid', 'paid'],
    ['restrict', '', ''],
    ['restrict', 'big', 'big'],
    ['restrict', '-big', ''],
    ['restrict', '@paid', 'big'],
    ['inherit', '', ALL],
    ['inherit', 'big', ALL],
    ['inherit', '-big', ALL],
  ])('mode %s with "%s" bound allows "%s"', (mode, bound, expected) => {
    expect(called([level(mode, bound)])).toBe(expected)
  })
})

describe('several levels, outermost first', () => {
  it.each<[string, TargetLevel[], string]>([
    ['nothing anywhere', [level(null, ''), level(null, ''), level(null, '')], ALL],
    ['the ceiling alone', [level(null, 'big small'), level(null, '')], 'big small'],
    ['a narrower level below', [level(null, 'big small'), level(null, 'small')], 'small'],
    ['a level below cannot open what the ceiling closes', [level(null, 'big'), level(null, 'big small')], 'big'],
    ['nor with a label', [level(null, 'small'), level(null, '@paid')], ''],
    ['names and labels meet', [level(null, '@paid small'), level(null, 'big fast')], 'big'],
    ['an open ceiling, a narrow key', [level(null, ''), level(null, ''), level(null, 'fast')], 'fast'],
    ['inherit below', [level(null, 'big'), level('inherit', 'small')], 'big'],
    ['inherit above gives up the ceiling', [level('inherit', 'big'), level(null, 'small')], 'small'],
    ['restrict to nothing below', [level(null, 'big'), level('restrict', '')], ''],
    ['restrict to nothing above', [level('restrict', ''), level(null, 'big')], ''],
    ['a disabled ceiling closes all', [level(null, '-big'), level(null, 'big')], ''],
    [
      'four',
      [level(null, 'big fast small'), level(null, 'big @free'), level('inherit', 'paid'), level('restrict', 'fast')],
      'fast',
    ],
  ])('%s', (_, levels, expected) => {
    expect(called(levels)).toBe(expected)
  })
})

describe('under callable_target_default: deny', () => {
  it.each<[string, TargetLevel[], string]>([
    ['no levels', [], ''],
    ['nothing anywhere', [level(null, ''), level(null, '')], ''],
    ['only inherit', [level('inherit', 'big')], ''],
    [
      'the other levels inherit from the one that is bound',
      [level(null, ''), level(null, 'big'), level(null, '')],
      'big',
    ],
    ['a ceiling', [level(null, 'big @free'), level(null, '')], 'big fast'],
    ['a disabled binding', [level(null, '-big')], ''],
  ])('%s', (_, levels, expected) => {
    expect(called(levels, 'deny')).toBe(expected)
  })

  it('without levels, allow allows', () => {
    expect(called([], 'allow')).toBe(ALL)
  })
})
