import type { Sql } from '../sql.ts'
import { keyedRecords, keyedTable } from './keyed-records.ts'

const ROUTE_GROUPS = keyedTable({
  table: 'gateway_route_group',
  id: 'name',
  columns: ['enabled', 'members'],
  searched: ['name'],
})

export type RouteGroupRecords = ReturnType<typeof routeGroupRecords>

export const routeGroupRecords = (database: Sql) => keyedRecords(database, ROUTE_GROUPS)
