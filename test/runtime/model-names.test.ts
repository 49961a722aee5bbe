import { expect, it } from 'vitest'
import { withGateway } from '../support/with-gateway.ts'

const gateway = withGateway(
  () => `
model_list:
  - { model_name: vendor/large, gateway_params: { model: echo/echo } }
  - { model_name: 'a b%ü', gateway_params: { model: echo/echo } }
  - { model_name: '100%', gateway_params: { model: echo/echo } }
`,
)

// The Python client puts the name into the path as it is, the TypeScript one in percent-encoding.
it.each([
  ['vendor%2Flarge', 'vendor/large'],
  ['vendor/large', 'vendor/large'],
  ['a%20b%25%C3%BC', 'a b%ü'],
  ['100%25', '100%'],
  ['100%', '100%'],
])('GET /v1/models/%s finds %s', async (path, id) => {
  const response = await gateway.fetch(`/v1/models/${path}`)
  expect({ status: response.status, ...((await response.json()) as object) }).toMatchObject({ status: 200, id })
})

it('without a key says nothing of names, nor of other paths below', async () => {
  for (const path of ['vendor/large', 'vendor/none', 'a//b']) {
    const response = await gateway.fetch(`/v1/models/${path}`, { headers: { authorization: '' } })
    expect([401, 404]).toContain(response.status)
  }
})
