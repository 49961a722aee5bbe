import * as z from 'zod'
import { storable } from '../../storable.ts'

export const batchParams = () => z.object({ batch_id: storable() })
