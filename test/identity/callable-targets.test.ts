import { describe, expect, it } from 'vitest'
import {
  type Binding,
  callableTargets,
  isRestricted,
  type TargetLevel,
  usableServers,
} from '../../src/identity/callable-targets.ts'
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

describe('servers of tools, beside models', () => {
  const server = (word: string): Binding => ({
    callable_kind: 'mcp_server',
    callable_key: word.replace(/^-/, ''),
    enabled: !word.startsWith('-'),
  })
  const both = (mode: TargetLevel['mode'], models: string, servers: string): TargetLevel => ({
    mode,
    bindings: [...bindings(models), ...servers.split(' ').filter(Boolean).map(server)],
  })
  const used = (levels: readonly TargetLevel[], byDefault: 'allow' | 'deny' = 'allow') =>
    ['big', 'files', 'web'].filter(usableServers(levels, byDefault)).join(' ')

  // `big` is a model, and a server.
  it.each<[string, TargetLevel[], string, string]>([
    ['nothing bound', [both(null, '', '')], ALL, 'big files web'],
    ['a model restricts no server', [both(null, 'small', '')], 'small', 'big files web'],
    ['a label neither', [both(null, '@paid', '')], 'big', 'big files web'],
    ['a server restricts no model', [both(null, '', 'web')], ALL, 'web'],
    ['a disabled server allows none, and restricts no model', [both(null, '', '-web')], ALL, ''],
    ['both', [both(null, 'small', 'web')], 'small', 'web'],
    ['a name is of its kind', [both(null, 'big', 'files')], 'big', 'files'],
    ['nor the other way', [both(null, 'small', 'big')], 'small', 'big'],
    ['restrict holds for both', [both('restrict', 'small', '')], 'small', ''],
    ['restrict with a server', [both('restrict', '', 'web')], '', 'web'],
    ['inherit gives up both', [both('inherit', 'small', 'web')], ALL, 'big files web'],
    ['levels meet', [both(null, '', 'files web'), both(null, 'small', 'web big')], 'small', 'web'],
    ['one level each', [both(null, 'small', ''), both(null, '', 'web')], 'small', 'web'],
  ])('%s', (_, levels, models, servers) => {
    expect([called(levels), used(levels)]).toEqual([models, servers])
  })

  it.each<[string, TargetLevel[], string, string]>([
    ['nothing bound', [both(null, '', '')], '', ''],
    ['a server alone opens no model', [both(null, '', 'web')], '', 'web'],
    ['a model alone opens no server', [both(null, 'small', '')], 'small', ''],
  ])('under callable_target_default: deny, %s', (_, levels, models, servers) => {
    expect([called(levels, 'deny'), used(levels, 'deny')]).toEqual([models, servers])
  })

  it('a caller is restricted by bindings of models alone', () => {
    expect(isRestricted([both(null, '', 'web')], 'allow')).toBe(false)
    expect(isRestricted([both(null, 'small', 'web')], 'allow')).toBe(true)
    expect(isRestricted([both('restrict', '', '')], 'allow')).toBe(true)
    expect(isRestricted([], 'deny')).toBe(true)
  })
})
