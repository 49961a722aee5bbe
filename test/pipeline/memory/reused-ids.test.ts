import { beforeAll, describe, expect, it } from 'vitest'
import { keyHolder } from '../../support/batches.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

describe('the responses of a team and a key that were removed', () => {
  const gateway = withFullGateway(() => 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]')
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    expect((await gateway.fetch(`/ui/api${path}`, init)).ok, path).toBe(true)
  }
  beforeAll(async () => {
    for (const organization_id of ['acme', 'globex']) await admin('POST', '/organizations', { organization_id })
  })

  it.each<[string, { readonly key_id: string; readonly team_id?: string }]>([
    ['team', { key_id: 'ci', team_id: 'brief' }],
    ['key', { key_id: 'ci' }],
  ])('are not those of another organization that gets the id of its %s', async (_kind, place) => {
    const holderIn = async (organization_id: string) => {
      if (!place.team_id) return keyHolder(gateway, { ...place, organization_id })
      await admin('POST', '/teams', { team_id: place.team_id, organization_id })
      return keyHolder(gateway, place)
    }
    const removed = async () => {
      await admin('DELETE', '/keys/ci')
      if (place.team_id) await admin('DELETE', `/teams/${place.team_id}`)
    }
    const former = await holderIn('acme')
    const { body: kept } = await former.ask('POST', '/v1/responses', { model: 'm', input: 'The word is cobalt.' })
    expect((await former.ask('GET', `/v1/responses/${kept.id}`)).status).toBe(200)
    await removed()

    const other = await holderIn('globex')
    const next = { model: 'm', input: 'Which word?', previous_response_id: kept.id }
    for (const answer of [
      await other.ask('GET', `/v1/responses/${kept.id}`),
      await other.ask('GET', `/v1/responses/${kept.id}/input_items`),
      await other.ask('DELETE', `/v1/responses/${kept.id}`),
      await other.ask('POST', '/v1/responses', next),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expect(JSON.stringify(answer.body)).not.toContain('cobalt')
    }
    await removed()

    const again = await holderIn('acme')
    expect((await again.ask('POST', '/v1/responses', next)).body.status).toBe('completed')
    await removed()
  })
})
