import { type Rows, timesAsMuch, tokens } from './price.ts'

export const claude = {
  'claude-fable-5-2': tokens(8, 40, 0.2, 10),
  'claude-fable-5-1': tokens(10, 50, 0.25, 12.5),
  'claude-fable-5': tokens(10, 50, 1, 12.5),
  'claude-mythos-5-1': tokens(10, 50, 0.25, 12.5),
  'claude-mythos-5': tokens(10, 50, 1, 12.5),
  'claude-opus-5-5': tokens(4, 20, 0.2, 5),
  'claude-opus-5': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-8': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-7': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-6': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-5': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-1': tokens(15, 75, 1.5, 18.75),
  'claude-opus-4': tokens(15, 75, 1.5, 18.75),
  'claude-sonnet-5-5': tokens(2, 10, 0.1, 2.5),
  'claude-sonnet-5': tokens(2, 10, 0.2, 2.5),
  'claude-sonnet-4-6': tokens(3, 15, 0.3, 3.75),
  'claude-sonnet-4-5': tokens(3, 15, 0.3, 3.75),
  'claude-sonnet-4': tokens(3, 15, 0.3, 3.75),
  'claude-haiku-5-5': tokens(0.1, 0.5, 0.01, 0.125),
  'claude-haiku-4-5': tokens(1, 5, 0.1, 1.25),
  'claude-3-7-sonnet': tokens(3, 15, 0.3, 3.75),
  'claude-3-5-sonnet': tokens(3, 15, 0.3, 3.75),
  'claude-3-5-haiku': tokens(0.8, 4, 0.08, 1),
  'claude-3-opus': tokens(15, 75, 1.5, 18.75),
  'claude-3-haiku': tokens(0.25, 1.25, 0.03, 0.3),
} satisfies Rows

/** The models that cost less through Bedrock's global profiles, and at Vertex's global address, than in a region. */
export const GLOBAL = [
  'claude-fable-5-2',
  'claude-fable-5-1',
  'claude-fable-5',
  'claude-opus-5-5',
  'claude-opus-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-opus-4-6',
  'claude-opus-4-5',
  'claude-sonnet-5-5',
  'claude-sonnet-5',
  'claude-sonnet-4-6',
  'claude-sonnet-4-5',
  'claude-haiku-5-5',
  'claude-haiku-4-5',
] as const
export const REGIONAL_TIMES = 1.1

export const bedrock: Rows = {
  ...Object.fromEntries(
    GLOBAL.flatMap((name) => [
      [`global.anthropic.${name}`, claude[name]],
      [`anthropic.${name}`, timesAsMuch(claude[name], REGIONAL_TIMES)],
    ]),
  ),
  'anthropic.claude-opus-4-1': claude['claude-opus-4-1'],
  'anthropic.claude-opus-4': claude['claude-opus-4'],
  'anthropic.claude-sonnet-4': claude['claude-sonnet-4'],
  'anthropic.claude-3-7-sonnet': claude['claude-3-7-sonnet'],
  'anthropic.claude-3-5-sonnet': claude['claude-3-5-sonnet'],
  'anthropic.claude-3-5-haiku': claude['claude-3-5-haiku'],
  'anthropic.claude-3-haiku': claude['claude-3-haiku'],
}
