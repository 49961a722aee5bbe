import { describe, expect, it } from 'vitest'
import { splice } from '../../../src/pipeline/respond/splice.ts'
import { busyMs } from '../../support/busy-ms.ts'

const said = 'One two three '

function joined(before: string, after: string, pieceLength: number): string {
  const joint = splice(before)
  let text = before
  for (let at = 0; at < after.length; at += pieceLength) text += joint.take(after.slice(at, at + pieceLength))
  return text + joint.end()
}

describe('words of a second model behind those of a first', () => {
  it.each([
    ['goes on', said, 'four five', 'One two three four five'],
    ['goes on with the blank that was said', said, ' four five', 'One two three four five'],
    ['begins again', said, 'One two three four five', 'One two three four five'],
    ['repeats the end', said, 'two three four five', 'One two three four five'],
    ['repeats the last word', said, 'three four five', 'One two three four five'],
    ['repeats the last word with its blank', said, ' three four', 'One two three four'],
    ['goes on in the middle of a word', 'One two thr', 'ee four', 'One two three four'],
    ['repeats half a word with all before it', 'One two thr', 'One two three four', 'One two three four'],
    ['shares a letter only', 'hel', 'lo', 'hello'],
    ['shares a short word, which may be meant', 'ha ', 'no', 'ha no'],
    ['begins as something that was said', said, 'two hundred', 'One two three two hundred'],
    ['says nothing', said, '', said],
    ['says only what was said', said, 'One two three', said],
    [
      'keeps a short likeness without blanks',
      '今天天气很好我们一起去公园散步吧',
      '我们一起去公园散步吧好不好',
      '今天天气很好我们一起去公园散步吧我们一起去公园散步吧好不好',
    ],
    ['begins again without blanks', '今天天气很好', '今天天气很好我们走', '今天天气很好我们走'],
    ['follows nothing', '', 'Hello', 'Hello'],
    ['opens a paragraph that was opened', 'A:\n\n', '\n\n- x', 'A:\n\n- x'],
  ])('%s', (_, before, after, whole) => {
    for (const pieceLength of [1, 2, 3, 7, 100]) expect(joined(before, after, pieceLength)).toBe(whole)
  })
})

it('is not slow where a long answer is nothing but one letter', () => {
  expect(busyMs(() => joined('a'.repeat(120_000), `${'a'.repeat(40_000)}b`, 4))).toBeLessThan(4000)
})
