import { entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { type IdStanding, idPlaces } from '../../pipeline/ids/named-ids.ts'

/** The member that holds an item's whole content. The provider looks up an item that comes without it. */
const CONTENT: Readonly<Record<string, string>> = {
  message: 'content',
  function_call: 'arguments',
  custom_tool_call: 'input',
  reasoning: 'encrypted_content',
  compaction: 'encrypted_content',
  mcp_list_tools: 'tools',
  local_shell_call: 'action',
  apply_patch_call: 'operation',
}

/** Members of an item without content. */
const BARE: ReadonlySet<string> = new Set(['type', 'id', 'status'])

/** Whether the provider needs its stored copy of an item with an id. */
function standingOfItem(item: JsonRecord): IdStanding {
  const isBare = Object.entries(item).every(([name, value]) => BARE.has(name) || value === null)
  if (item.type === 'item_reference' || isBare) return 'reference'
  const content = item[entryOf(CONTENT, item.type ?? 'message') ?? '']
  if (content !== undefined && content !== null) return 'hint'
  // The client makes the ids of its own outputs.
  return typeof item.type === 'string' && item.type.endsWith('_output') ? 'hint' : 'stored'
}

const ofCustomSkill = ({ type }: JsonRecord) => (type === 'skill_reference' ? 'reference' : undefined)

/** Places of a Responses request that hold ids of a provider's own objects. */
export const responsesIds = idPlaces([
  { path: 'previous_response_id', kind: 'previous_response' },
  { path: 'conversation', kind: 'conversation' },
  { path: 'conversation.id', kind: 'conversation' },
  { path: 'prompt.id', kind: 'prompt' },
  { path: 'prompt.variables.*.file_id', kind: 'file' },
  { path: 'tools[].vector_store_ids[]', kind: 'vector_store' },
  { path: 'tools[].collection_ids[]', kind: 'collection' },
  { path: 'tools[].container', kind: 'container' },
  { path: 'tools[].container.file_ids[]', kind: 'file' },
  { path: 'tools[].container.skills[].skill_id', kind: 'skill', standing: ofCustomSkill },
  { path: 'tools[].environment.container_id', kind: 'container' },
  { path: 'tools[].environment.file_ids[]', kind: 'file' },
  { path: 'tools[].environment.skills[].skill_id', kind: 'skill', standing: ofCustomSkill },
  { path: 'tools[].input_image_mask.file_id', kind: 'file' },
  { path: 'input[].id', kind: 'item', standing: standingOfItem },
  { path: 'input[].approval_request_id', kind: 'item', standing: () => 'stored' },
  { path: 'input[].content[].file_id', kind: 'file' },
  { path: 'input[].output.file_id', kind: 'file' },
  { path: 'input[].output[].file_id', kind: 'file' },
  {
    path: 'input[].container_id',
    kind: 'container',
    // The item holds the container's results, but the next run may use the container again.
    standing: () => 'stored',
  },
])
