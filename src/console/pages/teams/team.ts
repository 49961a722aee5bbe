import type { Row } from '../../data/client.ts'

export type Team = Row<'GET /ui/api/teams'>
