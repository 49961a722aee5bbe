import { idPlaces } from '../../pipeline/ids/named-ids.ts'

const ADDRESS = /^(https?|gs|s3|data):/i

/** Places of a chat request that hold ids of a provider's own objects. A file may also be given by its address. */
export const chatIds = idPlaces([
  { path: 'messages[].audio.id', kind: 'audio' },
  {
    path: 'messages[].content[].file.file_id',
    kind: 'file',
    standing: ({ file_id }) => (ADDRESS.test(String(file_id)) ? undefined : 'reference'),
  },
  { path: 'messages[].content[].file_id', kind: 'file' },
  // Content may also hold blocks of the Messages API.
  { path: 'messages[].content[].source.file_id', kind: 'file' },
  { path: 'messages[].content[].source.content[].source.file_id', kind: 'file' },
  { path: 'cached_content', kind: 'cached_content' },
  { path: 'previous_response_id', kind: 'previous_response' },
  { path: 'tools[].vector_store_ids[]', kind: 'vector_store' },
  { path: 'tools[].file_search.vector_store_ids[]', kind: 'vector_store' },
  { path: 'tools[].collection_ids[]', kind: 'collection' },
])
