import { useChange } from '../../data/change.ts'
import { type ApiError, api } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { toast } from '../../design/toast.tsx'
import { type Prompt, REFRESHES, type Version } from './prompt.ts'

/** What can be done with a prompt as a whole. */
export function PromptActions({
  prompt,
  onWrite,
  onGone,
}: {
  readonly prompt: Prompt
  /** Called with the version as which the next one begins. */
  readonly onWrite: (base: Version) => void
  readonly onGone: () => void
}) {
  const { key, state, latest } = prompt
  const archive = useChange('POST /ui/api/prompts/{key}/archive', REFRESHES)
  const unarchive = useChange('POST /ui/api/prompts/{key}/unarchive', REFRESHES)
  const remove = useChange('DELETE /ui/api/prompts/{key}', REFRESHES)
  const input = { params: { key } }
  const toUnarchive = () =>
    unarchive.mutate(input, {
      onSuccess: () => toast(`${key} is out of the archive. Calls may name it again.`),
      onError: (error) => toast(error.message, { bad: true }),
    })
  /** The newest version is read first: the next one begins as it. */
  async function toWrite(): Promise<void> {
    const newest = { params: { key, version: String(latest) } }
    try {
      onWrite(await api('GET /ui/api/prompts/{key}/versions/{version}', newest))
    } catch (error) {
      toast((error as ApiError).message, { bad: true })
    }
  }
  async function toArchive(): Promise<void> {
    const question = {
      title: `Archive ${key}?`,
      body: 'Calls that name it are refused from then on. Its versions and labels stay, and it can be taken out of the archive.',
      action: 'Archive',
      danger: true,
      done: `${key} is archived.`,
    }
    await performed(question, () => archive.mutateAsync(input))
  }
  async function toRemove(): Promise<void> {
    const question = {
      title: `Delete ${key}?`,
      body: latest === 1 ? 'Its only version is gone then.' : `All of its ${latest} versions are gone then.`,
      action: 'Delete',
      danger: true,
      typed: key,
      done: `${key} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync(input))) onGone()
  }
  if (state === 'active') {
    return (
      <>
        <Button onClick={toWrite}>New version</Button>
        <Button kind="danger" busy={archive.isPending} onClick={toArchive}>
          Archive
        </Button>
      </>
    )
  }
  return (
    <>
      <Button busy={unarchive.isPending} onClick={toUnarchive}>
        Take out of the archive
      </Button>
      <Button kind="danger" busy={remove.isPending} onClick={toRemove}>
        Delete
      </Button>
    </>
  )
}
