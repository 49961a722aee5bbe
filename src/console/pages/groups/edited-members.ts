import { useEffect, useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { refresh } from '../../data/query.ts'
import { useUnsaved } from '../../design/form/unsaved.ts'
import { toast } from '../../design/toast.tsx'
import type { Group, Member } from './group.ts'

/** What is read again after a change of a group. */
export const GROUPS = ['/ui/api/route-groups']

export type EditedMembers = ReturnType<typeof useEditedMembers>

/** The members of a group while they are edited. A newer version of the group takes their place, unless that would lose
 *  input. */
export function useEditedMembers(group: Group) {
  const { name } = group
  const [base, setBase] = useState(group)
  const [members, setMembers] = useState<readonly Member[]>(group.members)
  const [enabled, setEnabled] = useState(group.enabled)
  const change = useChange('PATCH /ui/api/route-groups/{name}', {
    refreshes: GROUPS,
    done: (saved) => {
      load(saved)
      toast('Saved. It applies everywhere within five seconds.')
    },
  })
  const dirty = enabled !== base.enabled || JSON.stringify(members) !== JSON.stringify(base.members)
  const draft = useUnsaved(dirty)
  const isOld = group.version > base.version && !change.isPending
  useEffect(() => {
    if (isOld && !dirty) load(group)
  }, [isOld, dirty, group])

  function load(from: Group): void {
    setBase(from)
    setMembers(from.members)
    setEnabled(from.enabled)
  }
  return {
    members,
    setMembers,
    enabled,
    setEnabled,
    change,
    dirty,
    draft,
    /** Somebody else has changed the group, and what is typed here would be lost. */
    isOutdated: isOld && dirty,
    loadTheirs() {
      load(group)
      change.reset()
    },
    keepMine() {
      setBase(group)
      change.reset()
    },
    save: () =>
      change.mutate(
        { params: { name }, body: { members: [...members], enabled, version: base.version } },
        // What somebody else has saved meanwhile is read, and shown as such.
        { onError: ({ code }) => void (code === 'version_conflict' && refresh(...GROUPS)) },
      ),
  }
}
