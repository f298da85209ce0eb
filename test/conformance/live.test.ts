import { createLive } from '../../infra/local/live.ts'
import { liveSuite } from './live-suite.ts'

liveSuite('one process', () => ({ live: createLive(), close: async () => {} }))
