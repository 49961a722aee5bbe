import { useEffect } from 'preact/hooks'
import { pathTo, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useSession } from '../data/session.ts'
import { Button, ButtonLink } from '../design/button.tsx'
import { Combobox } from '../design/form/combobox.tsx'
import { Page } from '../design/page.tsx'
import { Empty, Failure, Loading } from '../design/states.tsx'
import { Tabs } from '../design/tabs.tsx'
import { Chat } from './playground/chat.tsx'
import { type Key, useKeys } from './playground/keys.ts'
import './playground/playground.css'
import { TaskPlay } from './playground/task-play.tsx'
import { TASKS } from './playground/tasks.ts'

const KINDS = [{ id: 'chat', label: 'Chat' }, ...TASKS.map(({ id, label }) => ({ id, label }))] as const

/** Calls models as a client would: as a key, with its limits, its budget and its access. */
export function Playground() {
  const params = useParams()
  const { pages } = useSession()
  const { read, keyId, key, name, search, hasNone } = useKeys()
  const kind = KINDS.find(({ id }) => id === params.get('kind'))?.id ?? 'chat'
  const task = TASKS.find(({ id }) => id === kind)
  const mode = task?.mode ?? 'chat'
  const first = useApi(
    'GET /ui/api/callable-models',
    { query: { key_id: keyId, mode, limit: 1 } },
    { enabled: keyId !== '' && keyId !== undefined && params.get('model') === '' },
  )
  const model = params.get('model') || first.data?.data[0]?.name || ''
  const second = params.get('second')
  const isCompared = second !== ''
  const models = isCompared ? [model, second] : [model]
  const compare = () => params.set({ second: isCompared ? undefined : model }, { replace: true })
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'd' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      compare()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  })
  const place = {
    keyId: keyId ?? '',
    models,
    onModel: (index: number, chosen: string) =>
      params.set(
        { [index === 0 ? 'model' : 'second']: chosen || (index === 0 ? undefined : model) },
        { replace: true },
      ),
  }
  return (
    <Page
      title="Playground"
      actions={
        keyId && (
          <Button aria-pressed={isCompared} disabled={model === ''} onClick={compare}>
            Two models
          </Button>
        )
      }
    >
      {read.error && !read.data && <Failure error={read.error} retry={() => read.refetch()} />}
      {read.isPending && <Loading />}
      {hasNone && (
        <Empty
          title="No key to call as"
          actions={
            pages.includes('keys') ? (
              <ButtonLink href={pathTo('keys')}>Keys</ButtonLink>
            ) : (
              pages.includes('my-keys') && <ButtonLink href={pathTo('my-keys')}>My keys</ButtonLink>
            )
          }
        >
          The playground calls as a key that you may use, with its limits, its budget and its models. There is none yet.
        </Empty>
      )}
      {keyId && (
        <>
          <div class="row">
            <label for="play-key">Calls as the key</label>
            <div class="play-key">
              <Combobox
                id="play-key"
                value={name ?? ''}
                search={search}
                onChange={(option) => option && params.set({ key_id: option.value }, { replace: true })}
              />
            </div>
            {key && <span class="quiet small">{accountOf(key)}</span>}
          </div>
          <Tabs
            label="What to call"
            tabs={KINDS}
            current={kind}
            onChange={(id) =>
              params.set(
                { kind: id === 'chat' ? undefined : id, model: undefined, second: undefined },
                { replace: true },
              )
            }
          />
          {first.error && <Failure error={first.error} />}
          {task ? <TaskPlay key={task.id} task={task} {...place} /> : <Chat {...place} />}
        </>
      )}
    </Page>
  )
}

/** Whose limits and budget a call counts against. */
const accountOf = ({ team_name: team, team_id: id, state }: Key) =>
  `${team ?? id ?? 'no team'}${state === 'over_budget' ? ', over its budget' : ''}; the call counts against its limits and its budget`
