import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useApi } from '../../data/query.ts'
import { shortcut } from '../../data/shortcuts.ts'
import { ButtonLink, copyText } from '../../design/button.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { endingOf } from './call.ts'
import { StoryOf } from './story.tsx'

/** The story of one call, beside the list of all. */
export function StoryPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { route } = useLocation()
  const read = useApi('GET /ui/api/logs/{call_id}', { params: { call_id: id } })
  const page = pageOf(id)
  useCopyOfId(id)
  useEffect(() => shortcut('o', 'The story as a page', () => route(page)), [id])
  const call = read.data?.call
  return (
    <Panel
      title={call ? endingOf(call).words : 'Call'}
      actions={<ButtonLink kind="plain" icon="external" label="The story as a page" href={page} />}
      onClose={onClose}
    >
      <Loaded of={read}>{(story) => <StoryOf story={story} level={3} />}</Loaded>
    </Panel>
  )
}

/** Where the story of a call has a page of its own. */
const pageOf = (id: string) => `/console/requests/${encodeURIComponent(id)}`

export const copyId = (id: string): void => {
  void copyText(id).then(() => toast('The id of the call is copied.'))
}

/** `y` copies the id of a call. */
export function useCopyOfId(id: string): void {
  useEffect(() => shortcut('y', 'Copy the id of the call', () => copyId(id)), [id])
}
