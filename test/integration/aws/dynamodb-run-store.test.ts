import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitRunStore } from './dynamodb-run-store.ts'

const { name, start } = everyDayEmulator()
admitRunStore(name, start)
