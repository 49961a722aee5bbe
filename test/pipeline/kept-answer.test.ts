import { expect, it, vi } from 'vitest'
import { responsesDialect } from '../../src/api/dialects/responses.ts'
import { masterCaller } from '../../src/identity/master-caller.ts'
import { keptFor } from '../../src/pipeline/kept-answer.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { keptAnswerKey } from '../../src/stores/kv/keys.ts'

it('is asked for by what can be the id of an answer, and by nothing longer', async () => {
  const store = inProcessStore({ now: Date.now })
  const get = vi.spyOn(store, 'get')
  const services = { store } as unknown as Parameters<typeof keptFor>[0]
  const input = { caller: masterCaller, endpoint: { dialect: responsesDialect } } as Parameters<typeof keptFor>[1]
  const keeper = (id: string) => keptFor(services, input, { model: 'm', previous_response_id: id })

  await store.put(keptAnswerKey('master_key', 'resp_1'), 'a', 60)
  expect(await keeper('resp_1')).toEqual({ param: 'previous_response_id', deployment: 'a' })
  expect(await keeper('r'.repeat(5_000_000))).toEqual({ param: 'previous_response_id', deployment: undefined })
  expect(get.mock.calls).toEqual([[keptAnswerKey('master_key', 'resp_1')]])
})
