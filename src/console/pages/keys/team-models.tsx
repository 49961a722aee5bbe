import { useApi } from '../../data/query.ts'

const MOST = 8

/** What a new key could call now, with the models that were chosen for it, within what its team may call. */
export function TeamModels({ teamId, chosen }: { readonly teamId: string; readonly chosen: readonly string[] }) {
  const read = useApi('GET /ui/api/teams/{team_id}/model-access', { params: { team_id: teamId } })
  if (!read.data) return null
  const { effective } = read.data
  const callable = chosen.length === 0 ? effective : effective.filter((name) => chosen.includes(name))
  const others = chosen.filter((name) => !effective.includes(name))
  return (
    <p class="quiet small" role="status">
      {callable.length === 0
        ? 'It may call nothing now.'
        : `It may call ${callable.slice(0, MOST).join(', ')}${callable.length > MOST ? ` and ${callable.length - MOST} more` : ''}.`}
      {others.length > 0 && ` Its team may not call ${others.join(', ')}.`}
    </p>
  )
}
