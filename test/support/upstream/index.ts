/** All that the scripted upstream can be told to do. */
export * from './answer.ts'
export { type Behaviour, change } from './behaviour.ts'
export * from './connection.ts'
export * from './delivery.ts'
export * from './lies.ts'
export * from './refusals.ts'
export * from './timing.ts'
