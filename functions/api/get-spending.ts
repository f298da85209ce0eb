import { SPENDING_ROUTES } from '../../shared/api/spending-routes.ts'
import { ledgerAt } from '../../shared/spending/ledger.ts'
import { shownCap } from '../../shared/views/spending.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'get-spending',
  schema: SPENDING_ROUTES['get-spending'],
  run: async ({ principal }, { settings, clock, spending }) => {
    const now = clock.now()
    const mine = settings.spending.filter(({ tenant = principal.tenant }) => tenant === principal.tenant)
    const caps = mine.map(async (cap) => shownCap(settings, cap, await spending.read(ledgerAt(cap, now)), now))
    return { json: { caps: await Promise.all(caps) } }
  },
})
