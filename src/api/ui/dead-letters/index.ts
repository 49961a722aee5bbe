import type { Route } from '../../route.ts'
import { deadLetterList } from './dead-letter-list.ts'
import { removeDeadLetter, removeDeadLetters } from './remove-dead-letters.ts'
import { replayDeadLetters } from './replay-dead-letters.ts'

export const deadLetters: readonly Route[] = [deadLetterList, replayDeadLetters, removeDeadLetters, removeDeadLetter]
