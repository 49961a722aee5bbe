import * as z from 'zod'
import { baseModelOf } from '../../../config/sections/model-list.ts'
import { pricing } from '../../../config/sections/pricing.ts'
import { lazily } from '../../../lib/lazily.ts'
import { PRICES_AS_OF, type PriceRow, priceRowOf, priceRows } from '../../../providers/price-table.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'

const row = lazily(() =>
  z.object({
    provider: z.string(),
    model: z.string().describe('Without the date and the version of a model: all of these cost the same.'),
    prices: z.object(pricing()).partial().describe('US dollars, as in `model_info`.'),
  }),
)

export const priceList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/prices',
    summary: 'The price table of this build, by provider and model. Prices of a deployment win over it.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the provider or of the model.'),
        provider: storable().max(256).optional(),
        model: storable()
          .max(256)
          .optional()
          .describe(
            "A provider's name of a model as a deployment has it, with its date and version; needs `provider`.",
          ),
        base_model: storable().max(256).optional().describe("The deployment's `base_model`, where it has one."),
        ...paging(),
      }),
    responses: {
      200: pageAnswer(row, 'One page.', () => ({
        as_of: z.string().describe("When the table was last compared with the vendors' price lists."),
      })),
    },
  },
  ({ input: { query } }) => {
    const { search, provider, model, base_model, cursor, limit } = query
    const wanted = search.toLowerCase()
    const isOfOne = provider !== undefined && model !== undefined
    const ofOne = isOfOne && [priceRowOf(provider, model, baseModelOf(provider, base_model))]
    const rows = (ofOne || sorted()).filter(
      (one) =>
        one !== undefined &&
        (isOfOne || provider === undefined || one.provider === provider) &&
        nameOf(one).toLowerCase().includes(wanted) &&
        (cursor === '' || nameOf(one) > cursor),
    ) as PriceRow[]
    return json({ ...pageOf(rows.slice(0, limit + 1), limit, nameOf), as_of: PRICES_AS_OF })
  },
)

const nameOf = ({ provider, model }: PriceRow) => `${provider} ${model}`
const sorted = lazily(() => priceRows().sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1)))
