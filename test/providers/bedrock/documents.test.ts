import { expect, it } from 'vitest'
import { converseMessages } from '../../../src/providers/bedrock/converse-messages.ts'

const file = (filename?: string) => ({
  type: 'file',
  file: { filename, file_data: 'data:application/pdf;base64,JVBE' },
})

it('documents of one conversation have names of their own, which Converse insists on', () => {
  const { messages } = converseMessages([
    { role: 'user', content: [{ type: 'text', text: 'Compare.' }, file('report.pdf'), file('report.pdf')] },
    { role: 'assistant', content: 'Of what?' },
    { role: 'user', content: [file(), file('report.pdf'), file('Report.pdf')] },
    { role: 'assistant', content: 'More?' },
    { role: 'user', content: [file(), file('report 2.pdf')] },
    { role: 'tool', tool_call_id: 'a', content: [file('report.pdf')] },
  ])
  const blocks = messages.flatMap(({ content }) => content)
  const inside = blocks.flatMap(({ toolResult }) => (toolResult as { content?: object[] })?.content ?? [])
  const names = [...blocks, ...inside].flatMap((block) => {
    const { document } = block as { document?: { name: string } }
    return document ? [document.name] : []
  })
  expect(names).toHaveLength(8)
  expect(new Set(names).size).toBe(8)
  expect(names.slice(0, 3)).toEqual(['report', 'report 2', 'document 1'])
})
