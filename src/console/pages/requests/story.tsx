import { pathTo } from '../../data/params.ts'
import { useSession } from '../../data/session.ts'
import { Badge, Entity } from '../../design/badge.tsx'
import { ButtonLink, CopyButton } from '../../design/button.tsx'
import { duration } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Moment } from '../../design/time.tsx'
import { type Call, replayOf, type Story } from './call.ts'
import { Price } from './price.tsx'
import { curlOf } from './repeated.ts'
import { sentence } from './sentence.ts'
import { Waterfall } from './waterfall.tsx'

const AROUND_MS = 5 * 60_000

/** A call from its arrival to its end: what happened, when, at what price, for whom. */
export function StoryOf({ story, level }: { readonly story: Story /** Of its headings. */; readonly level: 2 | 3 }) {
  const { call } = story
  return (
    <>
      <p>{sentence(story)}</p>
      <Again call={call} />
      <Section title="Course" level={level}>
        <Waterfall story={story} />
        <Facts
          of={[
            ['Total', duration(call.total_ms)],
            ['First token', call.first_token_ms === null ? undefined : duration(call.first_token_ms)],
            ['Upstream', call.upstream_ms === null ? undefined : duration(call.upstream_ms)],
            ['Gateway itself', `${call.overhead_ms.toFixed(1)} ms`],
          ]}
        />
      </Section>
      <Section title="Cost" level={level}>
        <Price story={story} />
      </Section>
      <Section title="Who" level={level}>
        <Who call={call} />
      </Section>
      <Section title="What" level={level}>
        <Facts
          of={[
            ['Time', <Moment at={call.at} />],
            ['Endpoint', <span class="mono">{call.endpoint}</span>],
            ['Asked for', call.requested_model],
            [
              'Served by',
              call.model ? [call.model, call.deployment, call.provider].filter(Boolean).join(' · ') : undefined,
            ],
            ['Streamed', call.streamed ? 'yes' : 'no'],
            ['Cache', call.cache === 'off' ? undefined : call.cache],
            ['Prompt', call.prompt ?? undefined],
            ['Batch', call.batch_id ? <Id of={call.batch_id} what="batch" /> : undefined],
            ['Call', <Id of={call.call_id} what="call" />],
            ['Request', <Id of={call.request_id} what="request" />],
          ]}
        />
      </Section>
      <Content links={story.links} level={level} />
      <Neighbours call={call} level={level} />
    </>
  )
}

/** The actions on a finished call. */
function Again({ call }: { readonly call: Call }) {
  const { pages } = useSession()
  const replay = pages.includes('playground') ? replayOf(call) : undefined
  return (
    <div class="row no-print">
      {replay && (
        <ButtonLink small icon="playground" href={replay}>
          Replay in the playground
        </ButtonLink>
      )}
      <CopyButton text={curlOf(call)}>Copy as cURL</CopyButton>
    </div>
  )
}

function Content({ links, level }: Pick<Story, 'links'> & { readonly level: 2 | 3 }) {
  return (
    <Section title="Content" level={level}>
      {links.length > 0 && (
        <div class="row">
          {links.map(({ sink, url }) => (
            <ButtonLink key={sink} small href={url} target="_blank" rel="noreferrer">
              Open in {sink}
            </ButtonLink>
          ))}
        </div>
      )}
      <p class="quiet">
        The gateway keeps no questions and answers
        {links.length > 0
          ? '; whether these sinks do is their setting.'
          : '. A sink that has them is set up in the file.'}{' '}
        A replay has the parameters that are known: the model, the key, the prompt, and whether it was streamed.
      </p>
    </Section>
  )
}

function Id({ of, what }: { readonly of: string; readonly what: string }) {
  return (
    <span class="row">
      <span class="mono cut">{of}</span>
      <CopyButton text={of} label={`Copy the id of the ${what}`} />
    </span>
  )
}

function Who({ call }: { readonly call: Call }) {
  const { pages } = useSession()
  const leads = (page: string, open: string | null) =>
    open && pages.includes(page) ? pathTo(page, { open }) : undefined
  return (
    <Facts
      of={[
        ['Key', <Entity id={call.key_id} name={call.key_name} href={leads('keys', call.key_id)} />],
        ['Team', <Entity id={call.team_id} name={call.team_name} href={leads('teams', call.team_id)} />],
        [
          'Organization',
          <Entity
            id={call.organization_id}
            name={call.organization_name}
            href={leads('organizations', call.organization_id)}
          />,
        ],
        ['User', call.user_id ? <Entity id={call.user_id} name={call.user_name} /> : undefined],
        [
          'Tags',
          call.tags.length > 0 ? (
            <span class="row">
              {call.tags.map((tag) => (
                <Badge key={tag}>{tag}</Badge>
              ))}
            </span>
          ) : undefined,
        ],
      ]}
    />
  )
}

/** What else happened then. */
function Neighbours({ call, level }: { readonly call: Call; readonly level: 2 | 3 }) {
  const at = new Date(call.at).getTime()
  const then = {
    from: new Date(at - AROUND_MS).toISOString(),
    to: new Date(at + AROUND_MS).toISOString(),
  }
  const same = [
    ['key', call.key_id && { key_id: call.key_id }],
    ['model', { model: call.model ?? call.requested_model }],
    ['deployment', call.deployment && { deployment: call.deployment }],
  ] as const
  return (
    <Section title="Five minutes before and after" level={level}>
      <div class="row no-print">
        {same.map(
          ([what, filter]) =>
            filter && (
              <ButtonLink key={what} small href={pathTo('requests', { ...filter, ...then })}>
                Same {what}
              </ButtonLink>
            ),
        )}
      </div>
    </Section>
  )
}
