import { useState } from 'preact/hooks'
import { ApiError, api } from '../../data/client.ts'
import { refresh } from '../../data/query.ts'
import { useForm } from '../../design/form/form.tsx'
import { draftOf, type PolicyState, policyOf } from './group.ts'

const AT = '/ui/api/route-groups'

/** The draft of a group's policy while it is edited: its form, and how it is saved, published and dropped. */
export function usePolicyDraft({ name, published, draft }: PolicyState) {
  const form = useForm(draftOf(draft?.policy ?? published?.policy ?? {}))
  /** The version of the saved draft; undefined: there is none. */
  const [version, setVersion] = useState(draft?.draft_version)
  /** What somebody else has saved meanwhile. */
  const [conflict, setConflict] = useState<PolicyState>()
  const policy = policyOf(form.values)

  /** Saves the draft over a version of it; resolves with the new version, or undefined where it was refused. */
  async function save(over = version): Promise<number | undefined> {
    let written: number | undefined
    await form.submit(async () => {
      try {
        const query = over === undefined ? {} : { draft_version: over }
        const answer = await api(`PUT ${AT}/{name}/policy/draft`, { params: { name }, query, body: policy })
        written = answer.draft?.draft_version
        setVersion(written)
        form.reset(form.values)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'version_conflict') throw error
        setConflict(await api(`GET ${AT}/{name}/policy`, { params: { name } }))
      }
      return written !== undefined
    })
    return written
  }

  return {
    form,
    policy,
    version,
    conflict,
    save,
    /** Saves and publishes the draft; resolves with whether it is published. */
    async publish(): Promise<boolean> {
      const written = await save()
      if (written === undefined) return false
      return form.submit(() =>
        api(`POST ${AT}/{name}/policy/publish`, { params: { name }, query: { draft_version: written } }),
      )
    },
    async drop(): Promise<void> {
      const dropped =
        version === undefined ||
        (await form.submit(() => api(`DELETE ${AT}/{name}/policy/draft`, { params: { name } })))
      if (!dropped) return
      setVersion(undefined)
      form.reset(draftOf(published?.policy ?? {}))
      await refresh(AT)
    },
    /** Ends a conflict with what somebody else has saved. */
    loadTheirs(theirs: PolicyState): void {
      setVersion(theirs.draft?.draft_version)
      form.reset(draftOf(theirs.draft?.policy ?? theirs.published?.policy ?? {}))
      setConflict(undefined)
    },
    /** Ends a conflict with this draft, which replaces the other one. */
    keepMine(theirs: PolicyState): void {
      setConflict(undefined)
      void save(theirs.draft?.draft_version)
    },
  }
}

export type EditedPolicy = ReturnType<typeof usePolicyDraft>
