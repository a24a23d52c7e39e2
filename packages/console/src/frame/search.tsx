import { Dialog, Modal, ModalOverlay } from 'react-aria-components';

export function Search({ isOpen, setOpen }: { isOpen: boolean; setOpen: (open: boolean) => void }) {
  return (
    <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
      <Modal className="modal search">
        <Dialog aria-label="Search">
          <p>Search</p>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
