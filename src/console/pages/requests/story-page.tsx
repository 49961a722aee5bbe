import { useApi } from '../../data/query.ts'
import { Button, ButtonLink } from '../../design/button.tsx'
import { moment, zoneName } from '../../design/format.ts'
import { Page } from '../../design/page.tsx'
import { Empty, Loaded } from '../../design/states.tsx'
import { endingOf } from './call.ts'
import { StoryOf } from './story.tsx'
import { useCopyOfId } from './story-panel.tsx'

/** The story of one call as a page of its own, for an incident's record or a printer. */
export function StoryPage({ id }: { readonly id: string }) {
  const read = useApi('GET /ui/api/logs/{call_id}', { params: { call_id: id } })
  useCopyOfId(id)
  const call = read.data?.call
  const isMissing = read.error?.status === 404
  return (
    <Page
      title={call ? `${endingOf(call).words}: ${call.requested_model}` : 'Call'}
      lead={call && `Call ${call.call_id}, ${moment(call.at)} (${zoneName()})`}
      actions={
        <>
          <ButtonLink href="/console/requests">All requests</ButtonLink>
          {call && <Button onClick={() => print()}>Print</Button>}
        </>
      }
    >
      {isMissing ? (
        <Empty title="There is no such call">
          It may have been removed with old rows, belong to someone whose calls you may not see, or still be running.
        </Empty>
      ) : (
        <div class="stack story-page">
          <Loaded of={read}>{(story) => <StoryOf story={story} level={2} />}</Loaded>
        </div>
      )}
    </Page>
  )
}
