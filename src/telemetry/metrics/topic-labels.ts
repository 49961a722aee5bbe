import { topics } from '../topics.ts'
import type { Labels } from './metric.ts'

/** The labels of the series of all topics. */
export const OF_EACH_TOPIC: readonly Labels[] = topics.map(({ name }) => ({ topic: name }))
