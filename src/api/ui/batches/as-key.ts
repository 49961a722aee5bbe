import { defineRoute, type Route, type RouteContract } from '../../route.ts'
import { batchObject } from '../../v1/batches/batch-object.ts'
import { makeBatch, newBatch } from '../../v1/batches/create-batch.ts'
import { receiveUpload, uploadBody } from '../../v1/files/create-file.ts'
import { fileObject } from '../../v1/files/file-answer.ts'
import { currentCallerOfKey, keyQuery } from '../playground/caller-of-key.ts'

/** Runs as a key that the person owns or may change: the batch belongs to that key like any other. */
const common = {
  method: 'post',
  tag: 'Batches',
  auth: 'admin',
  permission: 'key.update',
  scoped: 'own',
  ofBatches: true,
  query: keyQuery,
} as const satisfies Partial<RouteContract>

const uploadAsKey = defineRoute(
  {
    ...common,
    path: '/ui/api/batches/files',
    summary: 'As a key that the caller may use: upload the requests of a batch.',
    action: 'file.create',
    body: uploadBody,
    responses: { 200: { description: 'The file.', schema: fileObject } },
  },
  async (scope) => {
    const { key_id: keyId } = scope.input.query
    const caller = await currentCallerOfKey(scope, keyId)
    scope.audits({ metadata: { key_id: keyId } })
    return receiveUpload(scope, caller)
  },
)

const createAsKey = defineRoute(
  {
    ...common,
    path: '/ui/api/batches',
    summary: 'As a key that the caller may use: run every line of an uploaded file as a request of its own.',
    action: 'batch.create',
    json: newBatch,
    responses: { 200: { description: 'The batch, whose file is checked next.', schema: batchObject } },
  },
  async (scope) => {
    const { key_id: keyId } = scope.input.query
    const caller = await currentCallerOfKey(scope, keyId)
    scope.audits({ metadata: { key_id: keyId } })
    return makeBatch(scope, caller)
  },
)

export const batchesAsKey: readonly Route[] = [uploadAsKey, createAsKey]
