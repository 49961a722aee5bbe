import type { Route } from '../../route.ts'
import { priceList } from './prices.ts'
import { providerList } from './provider-list.ts'
import { providerModels } from './provider-models.ts'

export const providerRoutes: readonly Route[] = [providerList, providerModels, priceList]
