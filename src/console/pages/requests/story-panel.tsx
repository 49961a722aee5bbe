import { useEffect } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { shortcut } from '../../data/shortcuts.ts'
import { Badge, Entity, State } from '../../design/badge.tsx'
import { ButtonLink, CopyButton, copyText } from '../../design/button.tsx'
import { count, duration, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Moment } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import { type Call, endingOf, type Story } from './call.ts'
import { sentence } from './sentence.ts'
import { Waterfall } from './waterfall.tsx'

const AROUND_MS = 5 * 60_000

/** The story of one call. */
export function StoryPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const read = useApi('GET /ui/api/logs/{call_id}', { params: { call_id: id } })
  useEffect(
    () => shortcut('y', 'Copy the id of the call', () => void copyText(id).then(() => toast('The id is copied.'))),
    [id],
  )
  const call = read.data?.call
  return (
    <Panel title={call ? endingOf(call).words : 'Call'} onClose={onClose}>
      <Loaded of={read}>{(story) => <Told story={story} />}</Loaded>
    </Panel>
  )
}

function Told({ story }: { readonly story: Story }) {
  const { call, links } = story
  return (
    <>
      <p>{sentence(story)}</p>
      <Section title="Course" level={3}>
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
      <Section title="Cost" level={3}>
        <Facts of={costOf(call)} />
      </Section>
      <Section title="Who" level={3}>
        <Who call={call} />
      </Section>
      <Section title="What" level={3}>
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
      <Section title="Content" level={3}>
        {links.length > 0 ? (
          <p class="row">
            {links.map(({ sink, url }) => (
              <ButtonLink key={sink} small href={url} target="_blank" rel="noreferrer">
                Open in {sink}
              </ButtonLink>
            ))}
          </p>
        ) : (
          <p class="quiet">The gateway keeps no questions and answers. A sink that has them is set up in the file.</p>
        )}
      </Section>
      <Neighbours call={call} />
    </>
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

function costOf(call: Call): ReadonlyArray<readonly [string, preact.ComponentChildren]> {
  const some = (value: number, unit: string) => (value > 0 ? `${count(value)} ${unit}` : undefined)
  return [
    ['Cost', call.cost === null ? <State tone="warn">no price</State> : money(call.cost)],
    ['Saved by the cache', call.saved > 0 ? money(call.saved) : undefined],
    [
      'Tokens in',
      `${count(call.input_tokens)}${call.cached_input_tokens ? `, ${count(call.cached_input_tokens)} cached` : ''}`,
    ],
    ['Written to a cache', some(call.cache_creation_input_tokens, 'tokens')],
    [
      'Tokens out',
      `${count(call.output_tokens)}${call.reasoning_tokens ? `, ${count(call.reasoning_tokens)} of reasoning` : ''}`,
    ],
    ['Images', some(call.images, '')],
    ['Audio', some(call.audio_seconds, 'seconds')],
    ['Characters', some(call.characters, '')],
    ['Rerank units', some(call.rerank_units, '')],
    ['Counted by', call.estimated ? 'the gateway, for the provider told nothing' : undefined],
  ]
}

/** What else happened then. */
function Neighbours({ call }: { readonly call: Call }) {
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
    <Section title="Five minutes before and after" level={3}>
      <p class="row">
        {same.map(
          ([what, filter]) =>
            filter && (
              <ButtonLink key={what} small href={pathTo('requests', { ...filter, ...then })}>
                Same {what}
              </ButtonLink>
            ),
        )}
      </p>
    </Section>
  )
}
