import { idPlaces } from '../../pipeline/ids/named-ids.ts'

/** Places of a Messages request that hold ids of a provider's own objects. The vendor's own skills exist in every
 *  account. */
export const messagesIds = idPlaces([
  { path: 'container', kind: 'container' },
  { path: 'container.id', kind: 'container' },
  {
    path: 'container.skills[].skill_id',
    kind: 'skill',
    standing: ({ type }) => (type === 'anthropic' ? undefined : 'reference'),
  },
  { path: 'thread', kind: 'thread' },
  { path: 'thread.id', kind: 'thread' },
  { path: 'thread.previous_message_id', kind: 'thread' },
  { path: 'thread_id', kind: 'thread' },
  { path: 'messages[].content[].source.file_id', kind: 'file' },
  { path: 'messages[].content[].source.content[].source.file_id', kind: 'file' },
  { path: 'messages[].content[].content[].source.file_id', kind: 'file' },
  {
    path: 'messages[].content[].file_id',
    kind: 'file',
    standing: ({ type }) => (type === 'container_upload' ? 'reference' : undefined),
  },
])
