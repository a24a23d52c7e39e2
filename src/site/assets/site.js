import { setUpCode } from './code.js';
import { setUpHeader } from './header.js';
import { setUpDrawer, setUpTableOfContents } from './navigation.js';

setUpHeader();
setUpCode();
setUpDrawer();
setUpTableOfContents();
