/** An organization or a team: both have members, keys and a rule for models, and are asked for them alike. */
export interface PlaceOf {
  readonly scope: 'organization' | 'team'
  readonly id: string
  readonly name: string | null
  /** The organization itself, or that of the team. */
  readonly organization_id: string | null
}

/** The routes of one. They are typed as those of teams, which have the same answers but for the names of the roles. */
export function routesOf({ scope, id }: Pick<PlaceOf, 'scope' | 'id'>) {
  const path = `/ui/api/${scope}s/{${scope}_id}`
  return {
    params: { [`${scope}_id`]: id } as { readonly team_id: string },
    members: `GET ${path}/members` as 'GET /ui/api/teams/{team_id}/members',
    putMember: `POST ${path}/members` as 'POST /ui/api/teams/{team_id}/members',
    removeMember: `DELETE ${path}/members/{user_id}` as 'DELETE /ui/api/teams/{team_id}/members/{user_id}',
    access: `GET ${path}/model-access` as 'GET /ui/api/teams/{team_id}/model-access',
    putAccess: `PUT ${path}/model-access` as 'PUT /ui/api/teams/{team_id}/model-access',
  } as const
}
