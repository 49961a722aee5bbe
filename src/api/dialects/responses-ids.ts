import { entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { idPlaces, type Standing } from '../../pipeline/ids/named-ids.ts'

/** The member of an item that holds all of what it says; without it the provider looks for the rest. */
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

/** What an item may hold beside nothing. */
const NOTHING: ReadonlySet<string> = new Set(['type', 'id', 'status'])

/** What an item with an id is to the provider that it is sent to. */
function standingOfItem(item: JsonRecord): Standing {
  const isBare = Object.entries(item).every(([name, value]) => NOTHING.has(name) || value === null)
  if (item.type === 'item_reference' || isBare) return 'reference'
  const content = item[entryOf(CONTENT, item.type ?? 'message') ?? '']
  if (content !== undefined && content !== null) return 'hint'
  // What a client has to say has an id of its own making, if any.
  return typeof item.type === 'string' && item.type.endsWith('_output') ? 'hint' : 'stored'
}

const ofCustomSkill = ({ type }: JsonRecord) => (type === 'skill_reference' ? 'reference' : undefined)

/** Where a request of the Responses API names what a provider has made. */
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
    // What it gave is in the item; the next run may want to go on in it.
    standing: () => 'stored',
  },
])
