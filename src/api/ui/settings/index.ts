import type { Route } from '../../route.ts'
import { configCheck } from './config-check.ts'
import { configList } from './config-list.ts'
import { instance } from './instance.ts'
import { signOnCheck } from './sign-on-check.ts'

export const settingsRoutes: readonly Route[] = [configList, configCheck, instance, signOnCheck]
